import { nanoid } from 'nanoid';
import type { Machine } from '../gateway/store/postgres/lease/lease.ts';

/** A process of a daemon. */
export const someMachine = (nodeId = 'test_0000'): Machine => ({
  process: nanoid(12),
  nodeId,
  version: '1.0.0',
  labels: [],
  url: () => `http://${nodeId}`,
  address: () => `http://${nodeId}`,
  publicKey: nanoid(43),
});
