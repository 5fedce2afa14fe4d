"""What a release leaves out."""
import os
import subprocess


def test_the_clock_of_tests_is_an_unknown_variable(tmp_path):
    done = subprocess.run(
        [os.environ["COUNTED_BINARY"], "serve"], capture_output=True, text=True, timeout=60, cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "THRONG_TEST_CLOCK": f"unix:{tmp_path}/clock"})
    assert done.returncode == 1
    assert "THRONG_TEST_CLOCK: no such variable" in done.stdout + done.stderr
