import { checkHistories } from "../support/property-tests.ts";

checkHistories({ from: 1, count: 10_000 });
