import type { Write } from './cluster-evidence.ts';

/** Names writes in a finding. */
export const placeOf = ({ first, last, table, wsId, session }: Write): string =>
  `writes ${first} to ${last}, ${table} of ${wsId}, session ${session}`;
