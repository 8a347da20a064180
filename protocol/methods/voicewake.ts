import { z } from 'zod';
import { contract } from '../contract.ts';
import { PlainName } from '../text/plain-text.ts';

/** The wake words of voice clients. */
export const VoiceWake = z.strictObject({ triggers: z.array(z.string()) }).meta({ id: 'VoiceWake' });

/** Reads and sets the wake words of voice clients. */
export const voicewakeContracts = {
  'voicewake.get': contract({
    summary: 'The wake words, shared by all voice clients.',
    scope: 'read',
    params: z.unknown(),
    result: VoiceWake,
  }),
  'voicewake.set': contract({
    summary: 'Set the wake words. Blank ones are dropped; an empty list restores the defaults.',
    scope: 'write',
    params: z.strictObject({ triggers: z.array(PlainName.max(64)).max(32) }).meta({ id: 'VoiceWakeSetParams' }),
    result: VoiceWake,
  }),
};
