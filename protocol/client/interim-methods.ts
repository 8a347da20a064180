import type { MethodName } from '../index.ts';

/** Methods that answer twice on one id: `status: "accepted"`, then the final answer. A test compares this list with the rows. */
export const INTERIM_METHODS: ReadonlySet<MethodName> = new Set(['agent']);
