"""What is published: the contents of the wheel and the source distribution, the version, and a core for every compiler.

`make wheel` builds the files and checks them; here, its checks find what they are there to find.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import io
import re
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml

import planewise as pw

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PACKAGE = {"src/planewise/__init__.py"}
LICENCES = {"LICENSE"}


def tool(name: str):
    spec = importlib.util.spec_from_file_location(f"tool_{name}", ROOT / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def wheel():
    return tool("wheel")


@pytest.fixture(scope="module")
def portable():
    return tool("portable")


def good_wheel() -> set[str]:
    info = "planewise-1.0.dist-info"
    metadata = {f"{info}/{name}" for name in ("METADATA", "WHEEL", "RECORD", "entry_points.txt")}
    core = {"planewise/_core.abi3.so", "planewise/_core.pyi"}
    return (
        {name.removeprefix("src/") for name in PACKAGE} | metadata | core | {f"{info}/licenses/{n}" for n in LICENCES}
    )


def faults_of_wheel(wheel, folder: Path, names: set[str]) -> list[str]:
    path = folder / "planewise-1.0-cp312-abi3-linux_x86_64.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, "")
    return list(wheel.wheel_faults(path, PACKAGE, LICENCES))


def test_a_wheel_of_the_package_its_core_and_licences_is_right(wheel, tmp_path):
    assert faults_of_wheel(wheel, tmp_path, good_wheel()) == []


@pytest.mark.parametrize(
    "name",
    ["tests/test_tree.py", "planewise/_core.cpp", "planewise/__pycache__/a.pyc", "native/grow.hpp", "lib/libnb.a"],
)
def test_a_wheel_holds_nothing_else(wheel, tmp_path, name):
    assert faults_of_wheel(wheel, tmp_path, good_wheel() | {name}) == [f"wheel: {name} should not be in it"]


@pytest.mark.parametrize("name", sorted(good_wheel() - {"planewise/_core.abi3.so"}))
def test_nothing_is_missing_from_a_wheel(wheel, tmp_path, name):
    assert faults_of_wheel(wheel, tmp_path, good_wheel() - {name}) == [f"wheel: {name} is missing"]


def test_a_wheel_has_one_core(wheel, tmp_path):
    found = faults_of_wheel(wheel, tmp_path, good_wheel() - {"planewise/_core.abi3.so"})
    assert found == ["wheel: one compiled core is wanted, found none"]


def test_a_source_distribution_has_what_building_needs_and_no_more(wheel, tmp_path):
    path = tmp_path / "planewise-1.0.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name in (PACKAGE | wheel.SOURCE_FILES | {".env"}) - {"CMakeLists.txt"}:
            archive.addfile(tarfile.TarInfo(f"planewise-1.0/{name}"), io.BytesIO())
    assert list(wheel.sdist_faults(path, PACKAGE)) == [
        "sdist: .env should not be in it",
        "sdist: CMakeLists.txt is missing",
    ]


def test_the_version_is_written_in_one_place():
    assert PROJECT["project"]["dynamic"] == ["version"]
    assert importlib.metadata.version("planewise") == pw.__version__


def test_the_conda_recipe_has_our_version_and_requirements():
    recipe = yaml.safe_load((ROOT / "packaging" / "conda" / "recipe.yaml").read_text(encoding="utf-8"))
    assert recipe["context"] == {"version": pw.__version__, "python_min": PROJECT["project"]["requires-python"][2:]}
    extras = PROJECT["project"]["optional-dependencies"]
    ours = [
        re.sub(r"(?=>=)", " ", each.split(";")[0], count=1)
        for each in (*PROJECT["project"]["dependencies"], *extras["cli"])
    ]
    assert recipe["requirements"]["run"] == ["python >=${{ python_min }}", *ours]
    building = [re.sub(r"(?=>=)", " ", each, count=1) for each in PROJECT["build-system"]["requires"]]
    assert recipe["requirements"]["host"] == ["python", "pip", *building]
    assert set(recipe["about"]["license_file"]) == LICENCES
    assert recipe["about"]["license"] == PROJECT["project"]["license"]


def test_the_citation_names_the_holders_of_the_licence():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert [author["name"].lower() for author in citation["authors"]] == ["the planewise developers"]
    assert "the planewise developers" in (ROOT / "LICENSE").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("int n = __builtin_ctz(3);", "__builtin_ctz is known to GCC and clang only"),
        ("__attribute__((noinline)) void f();", "__attribute__ is known to GCC and clang only"),
        ("__int128 sum;", "__int128 is not known to MSVC"),
        ("unsigned long n;", "long has 32 bits on Windows"),
        ("ssize_t n;", "ssize_t is not known to MSVC"),
        ("double x = M_PI;", "M_PI is not in the standard"),
        ("#include <unistd.h>", "#include <unistd.h> is not there on Windows"),
        ("Options options{.depth = 3};", ".depth = names a member in an initialiser, which is C++20"),
        ("#pragma omp parallel", "#pragma omp parallel is obeyed by some compilers only"),
    ],
)
def test_words_that_not_every_compiler_knows_are_found(portable, tmp_path, line, fault):
    native = tmp_path / "native"
    native.mkdir()
    (native / "a.cpp").write_text(f"// long\n{line}\n", encoding="utf-8")
    (found,) = portable.faults(native)
    assert found.startswith(f"native/a.cpp:2: {fault}")


def test_standard_words_comments_and_strings_are_no_faults(portable, tmp_path):
    native = tmp_path / "native"
    native.mkdir()
    code = '#pragma once\nlong long n; long double x; double longest;\nconst char *s = "long"; /* long */\n'
    (native / "a.hpp").write_text(code, encoding="utf-8")
    (native / "bits.hpp").write_text("unsigned long at; int n = __builtin_ctz(3);\n", encoding="utf-8")
    assert list(portable.faults(native)) == []
