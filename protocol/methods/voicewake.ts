import { z } from 'zod';
import { contract } from '../contract.ts';
import { PlainName } from '../plain-text.ts';

/** The words that wake a listening device. */
export const VoiceWake = z.strictObject({ triggers: z.array(z.string()) }).meta({ id: 'VoiceWake' });

/** The words that wake a listening device, read and set. */
export const voicewakeContracts = {
  'voicewake.get': contract({
    summary: 'The words that wake voice clients, shared by all of them.',
    scope: 'read',
    params: z.unknown(),
    result: VoiceWake,
  }),
  'voicewake.set': contract({
    summary: 'Set these words; blank ones are dropped, and none at all means the usual ones.',
    scope: 'write',
    params: z.strictObject({ triggers: z.array(PlainName.max(64)).max(32) }).meta({ id: 'VoiceWakeSetParams' }),
    result: VoiceWake,
  }),
};
