// Runs every test of this folder, or those whose sentence contains the first argument.
#include <cstring>
#include <exception>

#include "check.hpp"

int main(int arguments, char **argument) {
    std::setvbuf(stdout, nullptr, _IOLBF, 1024);  // what was said before a crash is seen
    for (const check::Test &test : check::tests()) {
        if (arguments > 1 && !std::strstr(test.sentence, argument[1])) continue;
        check::count().sentence = test.sentence;
        try {
            test.run();
        } catch (const std::exception &error) {
            ++check::count().failed;
            std::printf("%s: threw: %s\n", test.sentence, error.what());
        } catch (...) {
            ++check::count().failed;
            std::printf("%s: threw something\n", test.sentence);
        }
    }
    std::printf("%ld passed, %ld failed\n", check::count().passed, check::count().failed);
    return check::count().failed == 0 ? 0 : 1;
}
