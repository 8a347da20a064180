import type { logsContracts } from '../../../protocol/methods/logs.ts';
import type { LogRing } from '../../log-ring.ts';
import type { Handlers } from '../call.ts';

export const logsMethods = ({ logRing }: { logRing: Pick<LogRing, 'tail'> }): Handlers<keyof typeof logsContracts> => ({
  'logs.tail': (asked) => {
    const { truncated, reset, ...tail } = logRing.tail(asked);
    return { file: 'stderr', ...tail, ...(truncated && { truncated }), ...(reset && { reset }) };
  },
});
