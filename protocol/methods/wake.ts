import { z } from 'zod';
import { contract } from '../contract.ts';
import { LIMITS } from '../limits.ts';
import { PlainName, PlainText } from '../text/plain-text.ts';

const Count = z.int().min(0);

/** The result of a heartbeat turn. `ok-token`: the model answered that nothing needs attention. */
export const HeartbeatEvent = z
  .strictObject({
    ts: Count,
    status: z.enum(['sent', 'ok-empty', 'ok-token', 'skipped', 'failed']),
    /** The beginning of the model's answer. */
    preview: z.string().optional(),
    durationMs: Count.optional(),
    reason: z.string().optional(),
  })
  .meta({ id: 'HeartbeatEvent' });
export type HeartbeatEvent = z.infer<typeof HeartbeatEvent>;

/** The wake words of voice clients. */
export const VoiceWake = z.strictObject({ triggers: z.array(z.string()) }).meta({ id: 'VoiceWake' });

/** Waking the main session, its heartbeats, and the words that wake voice clients. */
export const wakeContracts = {
  wake: contract({
    summary: 'Give the main session a text for its next turn, or for a separate turn at once (`now`).',
    scope: 'write',
    params: () =>
      z
        .strictObject({ mode: z.enum(['now', 'next-heartbeat']), text: PlainText.min(1).max(LIMITS.systemEventChars) })
        .meta({ id: 'WakeParams' }),
    result: () => z.strictObject({ ok: z.boolean() }).meta({ id: 'WakeResult' }),
  }),
  'last-heartbeat': contract({
    summary: 'The latest heartbeat since the daemon started, or null.',
    scope: 'read',
    params: () => z.unknown(),
    result: () => HeartbeatEvent.nullable().meta({ id: 'LastHeartbeatResult' }),
  }),
  'set-heartbeats': contract({
    summary: 'Switch the periodic heartbeats off, or on again, until the daemon stops.',
    scope: 'write',
    audit: { action: 'heartbeats.set' },
    params: () => z.strictObject({ enabled: z.boolean() }).meta({ id: 'SetHeartbeatsParams' }),
    result: () => z.strictObject({ ok: z.literal(true), enabled: z.boolean() }).meta({ id: 'SetHeartbeatsResult' }),
  }),
  'voicewake.get': contract({
    summary: 'The wake words, shared by all voice clients.',
    scope: 'read',
    params: () => z.unknown(),
    result: () => VoiceWake,
  }),
  'voicewake.set': contract({
    summary: 'Set the wake words. Blank ones are dropped; an empty list restores the defaults.',
    scope: 'write',
    audit: { action: 'voicewake.set' },
    params: () => z.strictObject({ triggers: z.array(PlainName.max(64)).max(32) }).meta({ id: 'VoiceWakeSetParams' }),
    result: () => VoiceWake,
  }),
};
