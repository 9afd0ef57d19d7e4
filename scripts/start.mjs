/*
 * `npm start`: Parley as people run it. Without arguments and without a
 * terminal there is nobody to talk to, so it shows what it can do.
 */
import { isatty } from "node:tty";
import { fileURLToPath } from "node:url";

const program = new URL("../dist/parley.cjs", import.meta.url);
const given = process.argv.slice(2);
const hasTerminal = isatty(0) && isatty(1);

process.argv = [process.execPath, fileURLToPath(program), ...(given.length === 0 && !hasTerminal ? ["tour"] : given)];
await import(program.href);
