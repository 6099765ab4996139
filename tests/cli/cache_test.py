"""What is kept between runs: compiled programs and PoCL's files, damaged, out of reach, or without room."""
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import unittest

from support import PROGRAM, Case, main, npy_bytes, parse_npy, run

NOBODY = 65534
INPUT = npy_bytes((3, 5), bytes(range(15)))
AS_ROOT = os.geteuid() == 0


def become_nobody():
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)


class KeptFiles(Case):
    """Every test has a home of its own, and nothing else is set: an empty variable counts as none."""

    def setUp(self):
        super().setUp()
        self.home = self.path("home")
        os.mkdir(self.home)
        self.env = {"HOME": self.home, "POCL_CACHE_DIR": "", "AXISLOOM_CACHE_DIR": "", "XDG_CACHE_HOME": "",
                    "AXISLOOM_DEVICE": "opencl", "TMPDIR": self.home}

    def files(self, *below):
        """All files but the empty ones that PoCL leaves with every run."""
        return sorted(os.path.join(folder, name) for folder, _, names in os.walk(os.path.join(self.home, *below))
                      for name in names if not name.startswith("tempfile_"))

    def transpose(self, **options):
        """Transposes the input; the result is right, or there is none."""
        result = run("transpose", "-", "-o", "-", stdin=INPUT, env=self.env, **options)
        if result.returncode == 0:
            shape, _, _, data = parse_npy(result.raw)
            self.assertEqual((shape, data), ((5, 3), bytes(5 * c + r for r in range(5) for c in range(3))))
        return result

    def good_transpose(self):
        result = self.transpose()
        self.assertEqual(result.returncode, 0, result.err)


class Damaged(KeptFiles):
    def test_files_are_noticed_or_not_used(self):
        self.good_transpose()
        kept = self.files(".cache")
        self.assertTrue(any(name.endswith(".axl") for name in kept), kept)
        self.assertTrue(any(name.endswith(".so") for name in kept), kept)
        whole = self.path("whole")
        shutil.copytree(self.home, whole)
        flip = random.Random(1)
        for name in kept:
            with open(name, "rb") as file:
                content = bytearray(file.read())
            for at in range(0, len(content), 50):
                content[at] ^= 1 << flip.randrange(8)
            for damaged in (b"", bytes(content[:len(content) // 2]), bytes(content)):
                if not content:
                    continue
                with open(name, "wb") as file:
                    file.write(damaged)
                with self.subTest(name=os.path.relpath(name, self.home), length=len(damaged)):
                    self.good_transpose()
                shutil.rmtree(self.home)
                shutil.copytree(whole, self.home)

    def test_what_a_driver_finds_is_what_was_left(self):
        self.good_transpose()
        programs = os.path.join(self.home, ".cache/axisloom/pocl/kcache")

        def changed():
            return {name: os.stat(name).st_ctime_ns for name in self.files(".cache/axisloom/pocl/kcache")
                    if name.endswith((".so", ".bc"))}

        left = changed()
        self.good_transpose()
        kept = changed()
        self.assertEqual(left, kept, "what is as it was left is used again")
        stray = os.path.join(programs, "stray")
        for spoil in (lambda: open(stray, "wb").close(),
                      lambda: os.remove(os.path.join(self.home, ".cache/axisloom/pocl/state"))):
            spoil()
            self.good_transpose()
            self.assertFalse(os.path.exists(stray))
            self.assertFalse(set(changed().items()) & set(kept.items()), "all is begun anew")
            kept = changed()

    def test_a_folder_of_others_is_left_alone(self):
        theirs = os.path.join(self.home, "cache/pocl/kcache")
        os.makedirs(theirs)
        for name in ("program.bc", "../notes"):
            with open(os.path.join(theirs, name), "w", encoding="utf-8") as file:
                file.write("kept for years")
        self.env["AXISLOOM_CACHE_DIR"] = os.path.join(self.home, "cache")
        before = self.files("cache/pocl")
        self.good("devices", env=self.env)
        self.good("cache", "clear", env=self.env)
        self.assertEqual(self.files("cache/pocl"), before)

    def test_clearing_takes_what_pocl_has_kept(self):
        self.good_transpose()
        self.good("cache", "clear", env=self.env)
        self.assertFalse([name for name in self.files(".cache") if name.endswith((".axl", ".so", ".bc"))])
        self.good_transpose()


class OutOfReach(KeptFiles):
    @unittest.skipUnless(AS_ROOT, "root writes everywhere, and only root can become another user")
    def test_a_home_that_is_not_there(self):
        os.chown(self.home, NOBODY, NOBODY)
        self.env["HOME"] = "/nonexistent"
        os.chmod(os.path.dirname(self.home), 0o755)
        listed = json.loads(self.good("devices", "--format", "json", env=self.env, preexec_fn=become_nobody).out)
        self.assertTrue(any(device["device"].startswith("opencl") for device in listed))
        self.assertTrue(os.path.isdir(os.path.join(self.home, f"axisloom-{NOBODY}/pocl/kcache")))
        os.chown(self.home, 0, 0)  # nor is there another place
        shutil.rmtree(os.path.join(self.home, f"axisloom-{NOBODY}"))
        os.chmod(self.home, 0o700)
        doctor = run("doctor", env=self.env, preexec_fn=become_nobody)
        self.assertIn("/nonexistent/.cache/pocl/kcache", doctor.out)

    @unittest.skipUnless(AS_ROOT, "root writes everywhere, and only root can become another user")
    def test_a_folder_that_cannot_be_made_is_named_with_what_to_do(self):
        self.env.update({"POCL_CACHE_DIR": "/root/no-such-place", "AXISLOOM_DEVICE": "", "TMPDIR": "/tmp",
                         "AXISLOOM_THREADS": "none"})  # nor the host
        for command in (["copy", "-", "-o", "-", "--device", "opencl"], ["doctor"]):
            result = run(*command, stdin=INPUT, env=self.env, preexec_fn=become_nobody)
            self.assertEqual(result.returncode, 3, result.err)
            text = result.err + result.out
            self.assertIn("PoCL, which cannot use /root/no-such-place: it cannot be created: Permission denied", text)
            self.assertIn("set POCL_CACHE_DIR to a folder", text)
            self.assertNotIn("apt install pocl", text)
        self.assertEqual(result.out.splitlines()[-1], "not ready: no device can be used")

    def test_no_room(self):
        self.env["POCL_CACHE_DIR"] = self.path("pocl")
        limit = (1 << 16, 1 << 16)
        result = self.transpose(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit))
        self.assertEqual(result.returncode, 5, result.err)
        self.assertIn(f"PoCL keeps what it compiles in {self.path('pocl')}, which cannot be used: it has room for 65536",
                      result.err)
        self.assertIn("remedy: set POCL_CACHE_DIR", result.err)

    @unittest.skipUnless(AS_ROOT, "only root can give rights away")
    def test_no_files_for_a_program_with_rights_that_its_caller_lacks(self):
        program = self.path("axisloom")
        shutil.copy(PROGRAM, program)
        os.chmod(program, 0o4755)
        os.chmod(os.path.dirname(program), 0o755)
        os.chown(self.home, NOBODY, NOBODY)
        self.env["AXISLOOM_CACHE_DIR"] = os.path.join(self.home, "planted")
        result = subprocess.run([program, "cache", "info", "--format", "json"], env={**os.environ, **self.env},
                                capture_output=True, preexec_fn=become_nobody, check=True)
        info = json.loads(result.stdout)[0]
        if info["folder"]:
            self.skipTest("the file system does not give such rights")
        self.assertIn("rights that its caller lacks", info["note"])
        self.assertEqual(self.files(), [])


DRIVER = """
#include <stdlib.h>
#include <signal.h>
void* clGetExtensionFunctionAddress(const char* name) {
  (void)name;
  if (getenv("DRIVER_SIGNAL")) raise(atoi(getenv("DRIVER_SIGNAL")));
  exit(1);
}
"""


class EndedByADriver(KeptFiles):
    """With a driver that ends whoever opens it."""

    def setUp(self):
        super().setUp()
        source, library = self.path("driver.c", DRIVER.encode()), self.path("driver.so")
        subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", source, "-o", library], check=True)
        vendors = self.path("vendors")
        os.mkdir(vendors)
        with open(os.path.join(vendors, "driver.icd"), "w", encoding="utf-8") as file:
            file.write(library + "\n")
        self.env["OCL_ICD_VENDORS"] = vendors

    def test_an_exit_is_not_taken_for_a_wrong_result(self):
        result = self.transpose()
        self.assertEqual(result.returncode, 5, result.err)
        self.assertIn("axisloom: a driver ended the program", result.err)
        self.assertEqual(result.raw, b"")

    def test_doctor_lives_to_tell(self):
        for variables, how in (({}, "exit code 5"), ({"DRIVER_SIGNAL": str(int(signal.SIGSEGV))}, "signal 11"),
                               ({"DRIVER_SIGNAL": str(int(signal.SIGABRT))}, "signal 6")):
            doctor = run("doctor", env={**self.env, **variables})
            self.assertEqual(doctor.returncode, 5, doctor.err)
            self.assertIn(f"failed  OpenCL: a driver ended the process that tried it ({how}", doctor.out)
            self.assertIn("failed: OpenCL", doctor.out.splitlines()[-1])


class Ready(KeptFiles):
    def test_doctor_concludes(self):
        self.env.update({name: os.environ[name] for name in ("POCL_CACHE_DIR",) if name in os.environ})
        doctor = self.good("doctor", env=self.env)
        devices = json.loads(self.good("devices", "--format", "json", env=self.env).out)
        names = ", ".join(f"{device['device']} ({device['name']})" for device in devices)
        self.assertEqual(doctor.out.splitlines()[-1], f"ready: {names}")
        last = json.loads(self.good("doctor", "--format", "json", env=self.env).out)[-1]
        self.assertEqual((last["subject"], last["state"], last["detail"]), ("conclusion", "ready", names))


if __name__ == "__main__":
    main()
