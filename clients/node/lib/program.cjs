// Finds the program `redouble`.
"use strict";

const fs = require("node:fs");
const path = require("node:path");

const VARIABLE = "REDOUBLE_BIN";

const HELP = `Give its path with startRedouble({ bin: PATH }) or ${VARIABLE}=PATH, or put \`redouble\` on the PATH.
To get it, run \`bazel build --config=opt //:redouble\` in a checkout of Redouble (the program is
bazel-bin/redouble), or install the Debian package \`redouble\`.`;

class ProgramNotFoundError extends Error {
  name = "ProgramNotFoundError";
}

function isProgram(file) {
  try {
    fs.accessSync(file, fs.constants.X_OK);
    return fs.statSync(file).isFile();
  } catch {
    return false;
  }
}

// A path that is given and is no program is an error: the search does not continue.
function findProgram(bin) {
  for (const [origin, given] of [["the given path", bin], [VARIABLE, process.env[VARIABLE]]]) {
    if (!given) continue;
    const file = path.resolve(given);
    if (isProgram(file)) return file;
    throw new ProgramNotFoundError(`${origin} is ${given}, which is not a program.\n${HELP}`);
  }
  for (const folder of (process.env.PATH ?? "").split(path.delimiter)) {
    const file = path.resolve(folder, "redouble");
    if (folder && isProgram(file)) return file;
  }
  throw new ProgramNotFoundError(`The program \`redouble\` is not on the PATH.\n${HELP}`);
}

module.exports = { ProgramNotFoundError, findProgram };
