"""The program around the operations: help, devices, check, demo, cache, completions, manual page."""
import json
import os
import re
import shutil
import signal
import subprocess
import time
import unittest

from support import PROGRAM, Case, main, read_npy, read_png, run

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Devices(Case):
    def test_every_format_names_every_device(self):
        devices = json.loads(self.good("devices", "--format", "json").out)
        self.assertGreater(len(devices), 0)
        for shape in ("table", "csv", "md"):
            text = self.good("devices", "--format", shape).out
            for device in devices:
                self.assertIn(device["device"], text)
                self.assertIn(device["name"], text)

    def test_doctor_tries_every_device(self):
        findings = json.loads(self.good("doctor", "--format", "json").out)
        tried = [f for f in findings if "rearrange" in f["detail"]]
        self.assertEqual(len(tried), len(json.loads(self.good("devices", "--format", "json").out)))
        self.assertTrue(all(f["state"] == "ok" for f in tried), tried)

    def test_the_cache_fills_and_empties(self):
        env = {"AXISLOOM_CACHE_DIR": self.path("cache")}
        check = ("check", "transpose u8 5x6", "--device", "opencl:0")  # the host compiles nothing
        self.good(*check, env=env)
        info = json.loads(self.good("cache", "info", "--format", "json", env=env).out)[0]
        self.assertGreater(info["entries"], 0)
        self.assertIn("0 compiles", self.good(*check, env=env).out)
        self.good("cache", "clear", env=env)
        self.assertEqual(json.loads(self.good("cache", "info", "--format", "json", env=env).out)[0]["entries"], 0)

    def test_a_device_is_measured_and_plans_go_by_it(self):
        env = {"XDG_DATA_HOME": self.path("data")}
        figures = {f["figure"]: f for f in json.loads(self.good("calibrate", "--dry-run", "--format", "json", env=env).out)}
        self.assertGreater(figures["copy_rate"]["measured"], 0)
        self.assertFalse(os.path.exists(self.path("data/axisloom")))
        self.assertIn("devices.jsonl", self.good("calibrate", env=env).err)
        image = self.path("in.pgm", b"P5 3 2 255\nabcdef")
        told = self.good("transpose", image, "-o", self.path("out.pgm"), "--verbose", env=env).err
        self.assertIn("figures of the device: user's store", told)


class Check(Case):
    def test_expansion_is_listed(self):
        listed = self.good("check", "--list", "with {c=3,5}: copy {u8,f32} {c}x2", "slow copy u8 9").out.splitlines()
        self.assertEqual(listed, ["copy u8 3x2", "copy f32 3x2", "copy u8 5x2", "copy f32 5x2", "slow copy u8 9"])

    def test_random_cases_depend_on_the_seed_only(self):
        first = self.good("check", "--list", "--random", 20, "--seed", 5).out
        self.assertEqual(first, self.good("check", "--list", "--random", 20, "--seed", 5).out)
        self.assertNotEqual(first, self.good("check", "--list", "--random", 20, "--seed", 6).out)

    def test_the_summary_counts(self):
        cases = self.path("some.cases", b"# comment\ntranspose f32 {3,4}x5  # and another\n\nslow copy u8 7\n")
        summary = json.loads(self.good("check", "--cases", cases, "--format", "json").out)
        self.assertEqual([summary[key] for key in ("passed", "failed", "refused", "skipped")], [2, 0, 0, 1])
        self.assertEqual(json.loads(self.good("check", "--slow", "--cases", cases, "--format", "json").out)["passed"], 3)
        every = json.loads(self.good("check", "--candidate", "all", "transpose u8 40x50", "--format", "json").out)
        self.assertGreaterEqual(every["passed"], 2)

    def test_a_case_that_fails_says_how_to_repeat_it(self):
        result = run("check", "copy u8 7 expect=overlap", "--seed", 3)
        self.assertEqual(result.returncode, 1)
        self.assertIn("0 passed, 1 failed, 0 refused", result.out)
        repeat = result.err.split("repeat: ")[1].splitlines()[0]
        self.assertIn("--seed 3", repeat)
        again = subprocess.run(["bash", "-c", repeat.replace("axisloom", PROGRAM, 1)], capture_output=True, check=False)
        self.assertEqual(again.returncode, 1)
        self.assertEqual(again.stderr.decode(), result.err)

    def test_what_cannot_be_read(self):
        self.bad(2, "check")
        for number in ("abc", "-1", "1.5", "99999999999999999999"):
            error = self.bad(2, "check", f"--random={number}").err
            self.assertIn(f"{number} is not a whole number", error)
            self.assertLess(len(error), 200)
        self.bad(2, "check", "transpose f32")
        self.bad(2, "check", "transpose f32 {3..x}x4")
        self.bad(4, "check", "--cases", self.path("none.cases"))

    def test_the_device_that_ran_is_named(self):
        spec = json.loads(self.good("devices", "--format", "json").out)[0]["device"]
        self.assertIn(f"on {spec} (", self.good("check", "--device", spec, "copy u8 7").out)
        self.bad(3, "check", "--device", "opencl:no-such-device", "copy u8 7")
        self.assertEqual(run("check", "copy u8 7", env={"AXISLOOM_DEVICE": "opencl:no-such-device"}).returncode, 3)


class Demo(Case):
    def test_the_card_is_transposed(self):
        result = self.good("demo", "-o", self.path("demo"), "--format", "json")
        rows = json.loads(result.out)
        self.assertEqual({row["check"] for row in rows}, {"passed"})
        self.look_at_the_devices(rows)
        height, width, _, card = read_png(self.path("demo/card.png"))
        turned = read_png(self.path("demo/card-transposed.png"))
        self.assertEqual(turned[:3], (width, height, 1))
        self.assertEqual(turned[3], bytes(card[c * width + r] for r in range(width) for c in range(height)))
        self.assertEqual(read_npy(self.path("demo/colour-card-planes.npy"))[0], (3, height, width))
        self.assertEqual(read_npy(self.path("demo/channels.npy"))[0], (2, 2, 56, 56, 32))
        self.look_at_the_product(*[read_png(self.path(f"demo/{name}.png")) for name in ("iou", "iou-product")])
        self.look_at_the_sums([row for row in rows if row["device"] == "host"])

    def look_at_the_devices(self, rows):
        """Each job on the host, and right below it on the device beside it."""
        self.assertEqual([row["device"] for row in rows[::2]], ["host"] * (len(rows) // 2))
        self.assertEqual(len({row["device"] for row in rows[1::2]} - {"host"}), 1)
        self.assertEqual([row["what"] for row in rows[::2]], [row["what"] for row in rows[1::2]])

    def look_at_the_product(self, picture, product):
        self.assertEqual(picture[:3], (768, 768, 1))
        self.assertEqual(set(picture[3]), {0, 128})
        self.assertEqual(product[3], bytes(191 if grey else 0 for grey in picture[3]))

    def look_at_the_sums(self, rows):
        candidates = [row["candidate"] for row in rows if row["what"].startswith("product")]
        self.assertEqual(candidates[:2], ["plain", "local16"])
        self.assertEqual(len(candidates), 3)
        self.assertEqual([row["candidate"] for row in rows if row["what"] == "sum, the textbook's way"], ["lesson"] * 2)

    def test_without_drivers(self):
        """What `make demo DRIVERS=no` runs, and the README's example, where there is no driver and no compiler."""
        nothing = {"OCL_ICD_VENDORS": self.folder, "CUDA_VISIBLE_DEVICES": "", "AXISLOOM_HOST_COMPILER": ""}
        # Another make may run these tests, and what it hands down is not meant for this one.
        own = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
        recipe = subprocess.run(["make", "-n", "demo", "DRIVERS=no"], cwd=ROOT, env=own, capture_output=True, text=True,
                                check=True)
        steps = recipe.stdout.splitlines()
        self.assertEqual(steps[0].split()[1:], ["build", "no-drivers"])
        self.assertEqual(steps[-1].split()[:2], ["build/axisloom", "demo"])
        for arguments in ([], steps[-1].split()[2:]):
            rows = json.loads(self.good("demo", *arguments, "-o", self.path("demo"), "--format", "json", env=nothing).out)
            self.assertEqual({(row["device"], row["check"]) for row in rows}, {("host", "passed")})
            self.look_at_the_sums(rows)
        with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
            example = re.search(r"^```sh run\n(.*?)^```", file.read(), re.MULTILINE | re.DOTALL).group(1)
        nothing["PATH"] = f"{os.path.dirname(PROGRAM)}:{os.environ['PATH']}"
        done = subprocess.run(["bash", "-euc", example], cwd=self.folder, env={**os.environ, **nothing}, capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(os.path.exists(self.path("products.npy")))

    def test_a_picture_of_the_user(self):
        pixels = bytes(i * 7 % 256 for i in range(5 * 4 * 3))
        result = self.good("demo", self.path("my.ppm", b"P6\n5 4\n255\n" + pixels), "-o", self.path("demo"))
        self.assertNotIn("DIFFERS", result.out)
        self.assertEqual(read_png(self.path("demo/my-transposed.png"))[:3], (5, 4, 3))
        quiet = self.good("demo", self.path("my.ppm"), "-o", self.path("demo"), "--quiet")
        self.assertEqual((quiet.out, quiet.err), ("", ""))
        self.bad(4, "demo", self.path("none.png"), "-o", self.path("demo"))


class Texts(Case):
    def test_help_everywhere(self):
        top = self.good("--help").out
        commands = [line.split()[0] for line in top.split("Subcommands:")[1].split("Examples:")[0].splitlines() if
                    line.startswith("  ") and line[2] != " "]
        self.assertIn("rearrange", commands)
        for command in commands:
            self.assertIn("Examples:", self.good(command, "--help").out, command)

    def test_a_reader_that_goes_away(self):
        result = subprocess.run(["bash", "-c", f"'{PROGRAM}' check --list --random 3000 | head -1"], capture_output=True,
                                check=False)
        self.assertEqual(result.stderr, b"")

    def test_an_interrupt_ends_it_quietly(self):
        def listen():  # what a shell starts in the background ignores the interrupts of its terminal
            signal.signal(signal.SIGINT, signal.SIG_DFL)

        with subprocess.Popen([PROGRAM, "check", "--random", "100000"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              preexec_fn=listen) as process:
            time.sleep(1.5)
            process.send_signal(signal.SIGINT)
            _, error = process.communicate(timeout=60)
        self.assertEqual(process.returncode, -signal.SIGINT)
        self.assertEqual(error, b"")

    def complete(self, *words):
        script = (f'source <("{PROGRAM}" --completion bash); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); '
                  '_axisloom; printf "%s\\n" "${COMPREPLY[@]}"')
        return self.offered("bash", script, *words)

    def offered(self, shell, script, *words):
        if not os.path.lexists(self.path("axisloom")):
            os.symlink(PROGRAM, self.path("axisloom"))
        env = {**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}", "HOME": self.folder}
        result = subprocess.run([shell, "-c", script, shell, *words], capture_output=True, check=True, cwd=self.folder, env=env)
        return result.stdout.decode().splitlines()

    # What is typed, and what is offered for its last word.
    VALUES = ((["relayout", "NH"], ["NHWC"]), (["relayout", "--dtype", "u8", "NCHW", "NC/3"], ["NC/32HW32"]), (["reduce", "arg"], ["argmin", "argmax"]),
              (["copy", "a.npy", "--out-dtype", "b"], ["bool", "bf16"]), (["sum", "--device", "c"], ["cpu", "cuda"]),
              (["bench", "copy", "--peers", "n"], ["none", "numpy", "numpy-out"]), (["check", "--profile", "h2"], ["h200"]),
              (["ladder", "relayout", "--from", "CH"], ["CHWN"]),
              (["bench", "reduce", "--quick", "any", "column sums f32 6"], ["column sums f32 64x1048576"]))

    def test_values_are_completed(self):
        for words, offered in self.VALUES:
            self.assertEqual(self.complete("axisloom", *[word.replace(" ", "\\ ") for word in words]), offered, words)

    @unittest.skipUnless(shutil.which("fish"), "fish is not installed")
    def test_fish_completes_values(self):
        script = self.path("a.fish", self.good("--completion", "fish").raw)
        for words, offered in self.VALUES:
            line = "axisloom " + " ".join(word.replace(" ", "\\ ") for word in words)
            told = self.offered("fish", f"source {script}; complete -C $argv[2]", line)
            self.assertEqual({word.split("\t")[0].replace("\\", "") for word in told}, set(offered), words)

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_zsh_completes_values(self):
        """Outside of its line editor, which alone has compadd."""
        script = self.path("_axisloom", self.good("--completion", "zsh").raw)
        stage = f'compdef() {{}}; compadd() {{ shift; print -l -- "$@" }}; source {script}; words=("$@"); CURRENT=$#; PREFIX=$words[-1]; _axisloom'
        for words, offered in self.VALUES:
            told = self.offered("zsh", stage, "axisloom", *words)
            self.assertEqual([word for word in told if word.startswith(words[-1])], offered, words)

    def test_bash_completes(self):
        self.assertEqual(self.complete("axisloom", "trans"), ["transpose"])
        self.assertEqual(self.complete("axisloom", "devices", "--format", ""), ["table", "json", "csv", "md"])
        self.assertEqual(self.complete("axisloom", "cache", ""), ["info", "clear"])
        self.assertEqual(self.complete("axisloom", "transpose", "--cand"), ["--candidate"])
        self.path("picture.png", b"")
        self.assertEqual(self.complete("axisloom", "transpose", "pic"), ["picture.png"])
        self.assertEqual(self.complete("axisloom", "transpose", "a.npy", "-o", "pic"), ["picture.png"])
        self.assertEqual(self.complete("axisloom", "relayout", "NCHW", "NHWC", "pic"), ["picture.png"])

    def test_other_shells_accept_their_scripts(self):
        for shell in ("zsh", "fish"):
            script = self.path("script." + shell, self.good("--completion", shell).raw)
            if shutil.which(shell):
                subprocess.run([shell, "-n", script], check=True)

    @unittest.skipUnless(shutil.which("groff"), "groff is not installed")
    def test_the_manual_page_is_clean_troff(self):
        page = self.path("axisloom.1", self.good("--man").raw)
        result = subprocess.run(["groff", "-man", "-ww", "-Tutf8", page], capture_output=True, check=True)
        self.assertEqual(result.stderr, b"")
        text = re.sub(".\b", "", result.stdout.decode())  # bold and underlined letters are overstruck
        for word in ("rearrange", "EXIT STATUS", "--device", "--no-clobber"):
            self.assertTrue(word in text, word)

    def test_version(self):
        self.assertTrue(self.good("--version").out.startswith("axisloom "))


if __name__ == "__main__":
    main()
