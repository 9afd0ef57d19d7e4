import { signInToCodeAssist, signOutOfCodeAssist } from "../transport/credentials-code-assist.ts";
import { AuthProblem } from "../transport/credentials-key.ts";
import { realWorld } from "../world/real.ts";
import type { Run } from "./commands.ts";
import { Failure } from "./failure.ts";

/** `parley login`: signs in to Gemini Code Assist. Opening the address is left to the person. */
export const login: Run = async () => {
  const where = await explained(
    signInToCodeAssist(realWorld(), {
      show: (url) => {
        process.stderr.write("Open this address in a browser on this machine, and sign in:\n");
        process.stdout.write(`${url}\n`);
        process.stderr.write("Waiting for at most five minutes; Ctrl-C gives up.\n");
      },
    }),
  );
  process.stderr.write(`Signed in. The tokens are in ${where}, for your eyes only.\n`);
  return 0;
};

/** `parley logout`: makes the tokens of a sign-in worthless, and forgets them. */
export const logout: Run = async () => {
  await explained(signOutOfCodeAssist(realWorld()));
  process.stderr.write("Signed out. No tokens are left here.\n");
  return 0;
};

const explained = async <Value>(work: Promise<Value>): Promise<Value> => {
  try {
    return await work;
  } catch (error) {
    if (error instanceof AuthProblem) {
      const where = error.host === "" ? "" : `${error.host} cannot be reached. `;
      throw new Failure(`${where}${error.message}`, { code: 1 });
    }
    if (error instanceof Error && "code" in error) throw new Failure(`${error.message}.`, { code: 1 });
    throw error;
  }
};
