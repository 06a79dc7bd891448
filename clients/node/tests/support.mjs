// What several tests need.
import net from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

// A plain connection.
export function connect(port) {
  return new Promise((resolve, reject) => {
    const socket = net.createConnection({ host: "127.0.0.1", port }, () => resolve(socket));
    socket.once("error", reject);
  });
}

// Waits until no server listens on a port; rejects after ten seconds.
export async function waitUntilRefused(port) {
  for (const deadline = Date.now() + 10_000; Date.now() < deadline; await sleep(10)) {
    try {
      (await connect(port)).destroy();
    } catch {
      return;
    }
  }
  throw new Error(`a server still listens on port ${port}`);
}
