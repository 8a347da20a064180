import type { Handlers } from '../call.ts';
import type { Presence } from '../presence.ts';

export const systemMethods = ({ presence }: { presence: Pick<Presence, 'list'> }): Handlers<'system-presence'> => ({
  'system-presence': () => presence.list(),
});
