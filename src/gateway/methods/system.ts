import type { systemContracts } from '../../../protocol/methods/system.ts';
import type { Handlers } from '../call.ts';
import { callerOf } from '../caller.ts';
import type { Presence } from '../presence/presence.ts';
import { isSignOfLife, parseBeacon } from '../wake/beacon.ts';
import type { SystemEvents } from '../wake/system-events.ts';

interface SystemMethodDeps {
  presence: Pick<Presence, 'list' | 'beacon'>;
  systemEvents: Pick<SystemEvents, 'add'>;
}

export const systemMethods = ({
  presence,
  systemEvents,
}: SystemMethodDeps): Handlers<keyof typeof systemContracts> => ({
  'system-presence': () => presence.list(),
  'system-event': async ({ text, ...said }, call) => {
    const beacon = parseBeacon(text.trim());
    presence.beacon({ ...beacon, ...withoutAbsent(said), text: text.trim() });
    // A keepalive contains no news for the agent.
    const isNews = beacon === undefined || !isSignOfLife(said.reason ?? beacon.reason);
    if (isNews) await systemEvents.add(text.trim(), { rights: callerOf(call).rights });
    return { ok: true };
  },
});

const withoutAbsent = (fields: object) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
