import type { wakeContracts } from '../../../protocol/methods/wake.ts';
import type { Handlers } from '../call.ts';
import { callerOf } from '../caller.ts';
import type { Heartbeats } from '../wake/heartbeats.ts';
import type { SystemEvents } from '../wake/system-events.ts';

interface WakeMethodDeps {
  systemEvents: Pick<SystemEvents, 'add'>;
  heartbeats: Pick<Heartbeats, 'wake' | 'last' | 'setEnabled'>;
}

export const wakeMethods = ({ systemEvents, heartbeats }: WakeMethodDeps): Handlers<keyof typeof wakeContracts> => ({
  wake: async ({ mode, text }, call) => {
    if (text.trim() === '') return { ok: false };
    const { principal: wakes, rights } = callerOf(call);
    await systemEvents.add(text.trim(), { rights, ...(mode === 'now' && { wakes }) });
    if (mode === 'now') heartbeats.wake(wakes);
    return { ok: true };
  },
  'last-heartbeat': () => heartbeats.last,
  'set-heartbeats': ({ enabled }) => {
    heartbeats.setEnabled(enabled);
    return { ok: true, enabled };
  },
});
