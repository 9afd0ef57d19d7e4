/* Loaded before a program: writes down whom it connects to and whose address it looks up, one per line. */
import { appendFileSync } from "node:fs";
import dns from "node:dns";
import net from "node:net";

const file = process.env["HOSTS_FILE"];
const note = (what) => file !== undefined && appendFileSync(file, `${what}\n`);

const connect = Reflect.get(net.Socket.prototype, "connect");
net.Socket.prototype.connect = function (...args) {
  const [options] = Array.isArray(args[0]) ? args[0] : args;
  const { path, host = "localhost", port } = typeof options === "object" ? options : { host: args[1], port: options };
  note(path ?? `${host}:${String(port)}`);
  return Reflect.apply(connect, this, args);
};
for (const home of [dns, dns.promises])
  for (const name of ["lookup", "resolve", "resolve4", "resolve6"]) {
    const original = home[name];
    home[name] = (host, ...rest) => {
      note(host);
      return original(host, ...rest);
    };
  }
