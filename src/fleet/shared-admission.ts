import { closeBucket, takeFromBucket } from "../postgres/buckets.ts";
import { isConnectionFailure, type SqlDatabase } from "../postgres/database.ts";
import { ProviderError } from "../transport/failure.ts";
import type { RequestAccount, RequestAdmission } from "../transport/transport.ts";

/**
 * Admits the requests of a tenant within the limits that all workers share: the rate of the account, the wait that its
 * provider asked any of them for, and the spending of the tenant.
 */
export const createSharedAdmission = (
  { database, random }: { readonly database: SqlDatabase; readonly random: () => number },
  tenant: string,
): RequestAdmission => ({
  admit: async (account) => {
    const { provider } = account;
    const wait = await takeFromBucket(database, { bucket: bucketOf(account), provider, tenant }).catch(admitWithout);
    if (wait === "spent")
      throw new ProviderError({ kind: "no-credit", provider, label: provider, detail: spent(tenant) });
    // Those who wait for the same moment do not all come back in it.
    return wait === 0 ? 0 : wait + random() * Math.min(1000, wait / 4);
  },
  postpone: (account, milliseconds) =>
    closeBucket(database, bucketOf(account), milliseconds).catch(ignoreBrokenConnection),
});

const bucketOf = ({ provider, host, account = "" }: RequestAccount): string =>
  JSON.stringify([provider, host, account]);

const spent = (tenant: string): string =>
  `The spending limit of ${tenant} is reached. "parley store tenant ${tenant} --spend USD" raises it.`;

/** The worker itself stops when the database stays away; until then a limit must not end its turns. */
const admitWithout = (error: unknown): number => {
  ignoreBrokenConnection(error);
  return 0;
};

const ignoreBrokenConnection = (error: unknown): void => {
  if (!isConnectionFailure(error)) throw error;
};
