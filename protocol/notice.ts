import { z } from 'zod';

/** The subject of a notice. Clients decide by it, never by the text. */
const NoticeCode = z.enum([
  'demo_model', // the built-in demo answers
  'model_key_missing',
  'model_key_refused',
  'model_unreachable',
  'model_unusable', // the provider answers, but not with this model
  'database_set_aside', // it was damaged, and an empty one was created
  'changes_lost', // the newest changes, with the database's log
  'login_key_lost', // logins may have ended
  'audit_mark_lost', // the second place that remembers the end of the audit trail was damaged
  'secrets_discarded', // on request, because they could not be decrypted; logins have ended
  'machine_key_moved', // systemd provides the key that encrypts secrets now
  'operator_token_changed', // everything created with the earlier one has ended
  'audit_damaged', // records are missing or were changed
  'audit_unsigned', // the trail had no signature; it has one now
  'program_unsafe', // a program is installed but not used
  'tool_servers_unreadable', // those of the database
  'channel_down', // no messages come from a chat service
  'channel_conflict', // another program receives messages of the same account
  'channel_missing', // jobs deliver to a channel that is not set up
  'machine_missing', // a job waits for a machine that has gone
  'template_missing', // WhatsApp refuses messages later than 24 hours after the last one of the person
  'sandbox_off', // the setting that switches the sandbox off has no effect
  'sandbox_differs', // it hides a folder that was asked for, or protects less than it could
]);
type NoticeCode = z.infer<typeof NoticeCode>;

/** Something that a person should know, in one or two sentences. */
export const Notice = z
  .strictObject({ code: NoticeCode, level: z.enum(['info', 'warning', 'error']), text: z.string() })
  .meta({ id: 'Notice' });
export type Notice = z.infer<typeof Notice>;

/** A notice of level `warning`. */
export const warn = (code: NoticeCode, text: string): Notice => ({ code, level: 'warning', text });
