// Compiled, not run: the types of the package as an ES module.
import { type Fault, type Redouble, type Reply, ReplyError, startRedouble } from "redouble";

const redouble: Redouble = await startRedouble({ clock: "manual", start: new Date(0), seed: 7, options: [] });
const time: Date = await redouble.clock.advance("1500ms");
const next: Date | null = await redouble.clock.next();
const faults: Fault[] = await redouble.faults.pending();
const reply: Reply = await redouble.sim("HASH");
const ttlMs: number | undefined = (await redouble.dump()).k?.ttl_ms;
// @ts-expect-error: a clock is "manual" or "system".
await startRedouble({ clock: "wall" });
await redouble.stop();
export { ReplyError, faults, next, reply, time, ttlMs };
