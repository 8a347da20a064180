import type { NodePairing, NodeRow } from '../../../../protocol/methods/node.ts';

export const node = (more: Partial<NodeRow> = {}): NodeRow => ({
  ...{ nodeId: 'n1', displayName: 'attic', caps: ['system'], commands: ['system.info'], paired: true, connected: true },
  ...more,
});

export const pairing = (more: Partial<NodePairing> = {}): NodePairing => ({
  ...{ requestId: 'r1', nodeId: 'n1', displayName: 'attic', commands: ['system.info'], isRepair: false, ts: 1_000 },
  ...more,
});
