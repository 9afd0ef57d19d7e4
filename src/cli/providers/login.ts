import { signInToCodeAssist, signOutOfCodeAssist } from "../../transport/credentials/code-assist-sign-in.ts";
import { AuthError } from "../../transport/credentials/api-key.ts";
import { realWorld } from "../../world/real/world.ts";
import type { CommandHandler } from "../command.ts";
import { UserError } from "../user-error.ts";

/** `parley login`: signs in to Gemini Code Assist. Prints the URL; the user opens it. */
export const login: CommandHandler = async () => {
  const where = await withUserErrors(
    signInToCodeAssist(realWorld(), {
      show: (url) => {
        process.stderr.write("Open this URL in a browser on this machine and sign in:\n");
        process.stdout.write(`${url}\n`);
        process.stderr.write("Waiting up to five minutes. Press Ctrl-C to cancel.\n");
      },
    }),
  );
  process.stderr.write(`Signed in. The tokens are in ${where}, readable only by you.\n`);
  return 0;
};

/** `parley logout`: revokes the tokens of a sign-in and deletes them. */
export const logout: CommandHandler = async () => {
  await withUserErrors(signOutOfCodeAssist(realWorld()));
  process.stderr.write("Signed out. The tokens are deleted.\n");
  return 0;
};

const withUserErrors = async <Value>(work: Promise<Value>): Promise<Value> => {
  try {
    return await work;
  } catch (error) {
    if (error instanceof AuthError) {
      const where = error.host === "" ? "" : `${error.host} cannot be reached. `;
      throw new UserError(`${where}${error.message}`, { code: 1 });
    }
    if (error instanceof Error && "code" in error) throw new UserError(`${error.message}.`, { code: 1 });
    throw error;
  }
};
