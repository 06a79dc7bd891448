// The machine's time. Tests replace the global timers and clocks by fake ones; these stay real.
"use strict";

const { setTimeout: sleep } = require("node:timers/promises");

const now = performance.now.bind(performance);

module.exports = { now, sleep };
