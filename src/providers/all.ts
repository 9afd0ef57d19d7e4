import { anthropic } from "./anthropic.ts";
import type { Provider } from "./define.ts";

/** Every provider Parley speaks to. */
export const providers: readonly Provider[] = [anthropic];
