// Compiled, not run: the types of the package as a CommonJS module.
import redouble = require("redouble");

export async function port(): Promise<number> {
  await using server = await redouble.startRedouble();
  return server.port;
}
