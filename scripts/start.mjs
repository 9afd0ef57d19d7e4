/*
 * `npm start`: runs Parley. Without arguments and without a terminal it runs the tour.
 */
import { isatty } from "node:tty";
import { fileURLToPath } from "node:url";

const program = new URL("../dist/parley.cjs", import.meta.url);
const given = process.argv.slice(2);
const hasTerminal = isatty(0) && isatty(1);

process.argv = [process.execPath, fileURLToPath(program), ...(given.length === 0 && !hasTerminal ? ["tour"] : given)];
await import(program.href);
