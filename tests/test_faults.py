"""The faults of ``make faults`` follow the code: each still has its place, and tests to catch it."""

import pytest
from tools import faults


@pytest.mark.parametrize("fault", faults.FAULTS, ids=lambda fault: fault.sentence)
def test_a_fault_has_its_place_and_its_tests(fault):
    assert faults.planted(fault, faults.ROOT)
    assert fault.tests and all((faults.ROOT / test).exists() for test in fault.tests)


def test_there_are_forty_faults_of_which_the_core_has_ten_or_more():
    assert len({fault.sentence for fault in faults.FAULTS}) == 40
    assert sum(fault.file.startswith("native/") for fault in faults.FAULTS) >= 10
