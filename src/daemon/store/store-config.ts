import { z } from 'zod';

/** Whether it is the address of a PostgreSQL database. */
export const isStoreAddress = (text: string): boolean =>
  URL.canParse(text) && /^postgres(?:ql)?:$/.test(new URL(text).protocol) && new URL(text).pathname.length > 1;

/** What the address of a database looks like, for messages about one that cannot be used. */
export const STORE_ADDRESS = 'must be like postgresql://user:password@host:5432/database';

export const StoreConfig = z.object({
  url: z
    .string()
    .max(2_000)
    .refine(isStoreAddress, STORE_ADDRESS)
    .optional()
    .describe('The PostgreSQL database that stores everything. Without it, everything is in a file of the home.'),
});
