// What npm installs is enough: the files that package.json names, in a project elsewhere, offline.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { fileURLToPath } from "node:url";

const SOURCE = fileURLToPath(new URL("..", import.meta.url));
const USE = `
  const redouble = await startRedouble();
  await redouble.command("SET", "session", "alice", "PX", 1500);
  await redouble.clock.advance("1501ms");
  console.log(await redouble.command("DBSIZE"));
  await redouble.stop();`;
const PROGRAMS = {
  "module.mjs": `import { startRedouble } from "redouble";${USE}`,
  "script.cjs": `const { startRedouble } = require("redouble"); (async () => {${USE}})();`,
};
const hasNpm = spawnSync("npm", ["--version"]).status === 0;

let project;

beforeEach(() => {
  project = fs.mkdtempSync(path.join(os.tmpdir(), "redouble-"));
  fs.writeFileSync(path.join(project, "package.json"), "{}");
});
afterEach(() => fs.rmSync(project, { recursive: true }));

// Copies the package to a folder: the files that npm takes, or all files.
function copyPackage(folder, { listedOnly }) {
  const { files } = JSON.parse(fs.readFileSync(path.join(SOURCE, "package.json"), "utf8"));
  const listed = files.map((pattern) => new RegExp(`^${pattern.replaceAll(".", "\\.").replaceAll("*", ".*")}$`));
  fs.mkdirSync(folder, { recursive: true });
  for (const name of fs.readdirSync(SOURCE)) {
    if (listedOnly && name !== "package.json" && !listed.some((pattern) => pattern.test(name))) continue;
    fs.cpSync(path.join(SOURCE, name), path.join(folder, name), { recursive: true, dereference: true });
  }
}

function assertPrograms() {
  for (const [name, text] of Object.entries(PROGRAMS)) {
    fs.writeFileSync(path.join(project, name), text);
    const { status, stdout, stderr } = spawnSync(process.execPath, [name], { cwd: project, encoding: "utf8" });
    assert.deepEqual({ name, status, stdout, stderr }, { name, status: 0, stdout: "0\n", stderr: "" });
  }
}

test("the files that package.json names are all that the package needs", () => {
  copyPackage(path.join(project, "node_modules", "redouble"), { listedOnly: true });
  assertPrograms();
});

test("npm installs the folder offline", { skip: !hasNpm && "there is no npm" }, () => {
  const folder = path.join(project, "clients");
  copyPackage(folder, { listedOnly: false });
  for (const links of ["false", "true"]) {
    const command = ["install", "--offline", "--no-audit", "--no-fund", `--install-links=${links}`, "./clients"];
    const environment = { ...process.env, HOME: project, npm_config_cache: path.join(project, "cache") };
    const npm = spawnSync("npm", command, { cwd: project, encoding: "utf8", env: environment });
    assert.equal(npm.status, 0, npm.stderr);
    assertPrograms();
    fs.rmSync(path.join(project, "node_modules"), { recursive: true });
  }
});
