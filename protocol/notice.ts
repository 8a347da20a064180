import { z } from 'zod';

/** What a notice is about; clients choose by it, never by its words. */
const NoticeCode = z.enum([
  'demo_model', // the built-in demo answers
  'model_key_missing',
  'model_key_refused',
  'model_unreachable',
  'model_unusable', // the provider answers, but not with this model
  'database_set_aside', // it was damaged, and an empty one was made
  'changes_lost', // the newest ones, with the database's log
  'login_key_lost', // logins may have ended
  'operator_token_changed', // what the earlier one created has ended
  'program_unsafe', // a program is there and is not used
]);
type NoticeCode = z.infer<typeof NoticeCode>;

/** Something that a person should know; `text` is one sentence or two. */
export const Notice = z
  .strictObject({ code: NoticeCode, level: z.enum(['info', 'warning', 'error']), text: z.string() })
  .meta({ id: 'Notice' });
export type Notice = z.infer<typeof Notice>;

/** A notice of level `warning`. */
export const warn = (code: NoticeCode, text: string): Notice => ({ code, level: 'warning', text });
