import { z } from 'zod';
import { NoticeContent } from '../../../../protocol/methods/channels/push.ts';
import { TelegramConfig } from './telegram-config.ts';
import { WhatsAppConfig } from './whatsapp-config.ts';

const WebhookConfig = z
  .object({
    url: z.url({ protocol: /^https?$/ }),
    /** Signs the messages; `whsec_…`, or any text. */
    secret: z.string().min(16).optional(),
    /** The environment variable that holds the secret. */
    secretEnv: z.string().min(1).optional(),
    questions: NoticeContent.optional().describe(
      'Questions that wait are sent there, too: that there is one, its kind, or all of it.',
    ),
  })
  .refine(({ secret, secretEnv }) => (secret === undefined) !== (secretEnv === undefined), {
    message: 'needs either secret or secretEnv',
  });

const NtfyConfig = z
  .object({
    url: z.url({ protocol: /^https?$/ }).describe('The address of a topic.'),
    token: z.string().min(1).optional().describe('Its access token, if it needs one.'),
    tokenEnv: z.string().min(1).optional().describe('The environment variable that holds the token.'),
    content: NoticeContent.default('title').describe(
      'What a notification says: that a question waits (none), its kind (title), or all of it (full).',
    ),
  })
  .refine(({ token, tokenEnv }) => token === undefined || tokenEnv === undefined, {
    message: 'needs token or tokenEnv, not both',
  });

const PushConfig = z.object({
  afterSecs: z
    .int()
    .min(0)
    .max(86_400)
    .default(10)
    .describe('Seconds that a question waits before anybody is notified of it.'),
  contact: z
    .string()
    .regex(/^(mailto:[^@]+@.+|https:\/\/.+)$/, 'must begin with mailto: or https:')
    .default('mailto:headgate@example.org')
    .describe('Where the operators of push servers can reach you. They get it with each notification.'),
});

const TranscribeConfig = z.object({
  command: z
    .array(z.string().min(1).max(4_096))
    .min(1)
    .max(100)
    .describe('A program and its arguments. The path of the recording is added, and what it prints is the text.'),
  timeoutSecs: z.int().min(1).max(600).default(120).describe('Its time limit in seconds.'),
});

/** Where messages go to, and where they come from. */
export const ChannelsConfig = z.object({
  webhook: z
    .record(z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/), WebhookConfig)
    .default({})
    .describe('Destinations of messages, by name.'),
  ntfy: z
    .record(z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/), NtfyConfig)
    .default({})
    .describe('Topics of ntfy that are told of questions, by name.'),
  push: PushConfig.prefault({}),
  transcribe: TranscribeConfig.optional().describe('What turns recordings that people send into text.'),
  telegram: TelegramConfig.optional().describe('A bot at Telegram.'),
  whatsapp: WhatsAppConfig.optional().describe('A telephone number at WhatsApp (Cloud API of Meta).'),
});
