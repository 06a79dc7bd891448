// Redis 7.0 for tests, with a clock that the tests move. index.d.cts describes what is exported.
"use strict";

const { ProgramNotFoundError, findProgram } = require("./lib/program.cjs");
const { ReplyError } = require("./lib/wire.cjs");
const { StartError, startRedouble } = require("./lib/server.cjs");

module.exports = { ProgramNotFoundError, ReplyError, StartError, findProgram, startRedouble };
