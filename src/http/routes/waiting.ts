import type { Waiting } from '../../../protocol/cluster/machine-labels.ts';

/** Why a workstream runs nowhere now, as a field of lists. */
export const toWaiting = ({ waiting }: { waiting?: Waiting | undefined }) =>
  waiting === undefined
    ? {}
    : {
        waiting: {
          reason: waiting.reason,
          node_id: waiting.nodeId,
          ...(waiting.missingLabels && { missing_labels: waiting.missingLabels }),
          message: waiting.message,
        },
      };
