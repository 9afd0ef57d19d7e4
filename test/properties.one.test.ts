import { holdsForHistories } from "./support/hold.ts";

holdsForHistories({ from: 1, count: 10_000 });
