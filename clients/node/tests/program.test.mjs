// How the program is found.
import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { ProgramNotFoundError, findProgram } from "../index.mjs";

const environment = { ...process.env };
let folder;

function addProgram(name) {
  fs.writeFileSync(path.join(folder, name), "#!/bin/sh\n", { mode: 0o755 });
  return path.join(folder, name);
}

beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), "redouble-"));
  delete process.env.REDOUBLE_BIN;
  process.env.PATH = `:${folder}`;
});

afterEach(() => {
  process.env = { ...environment };
  fs.rmSync(folder, { recursive: true });
});

test("the given path comes first, then the variable, then the PATH", () => {
  const onThePath = addProgram("redouble");
  assert.equal(findProgram(), onThePath);
  process.env.REDOUBLE_BIN = addProgram("variable");
  assert.equal(findProgram(), process.env.REDOUBLE_BIN);
  const given = addProgram("given");
  assert.equal(findProgram(given), given);
});

test("the error says how to get the program", () => {
  for (const way of [/not on the PATH/, /bin: PATH/, /REDOUBLE_BIN/, /bazel build --config=opt/, /Debian package/]) {
    assert.throws(() => findProgram(), { name: "ProgramNotFoundError", message: way });
  }
});

test("a wrong path is not replaced by another program", () => {
  addProgram("redouble");
  assert.throws(() => findProgram("/none"), { message: /^the given path is \/none, which is not a program/ });
  process.env.REDOUBLE_BIN = folder;
  assert.throws(() => findProgram(), ProgramNotFoundError);
  assert.throws(() => findProgram(), { message: /^REDOUBLE_BIN is .*, which is not a program/ });
});
