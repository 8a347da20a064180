import { z } from 'zod';
import { TelegramConfig } from './telegram-config.ts';
import { WhatsAppConfig } from './whatsapp-config.ts';

const WebhookConfig = z
  .object({
    url: z.url({ protocol: /^https?$/ }),
    /** Signs the messages; `whsec_…`, or any text. */
    secret: z.string().min(16).optional(),
    /** The environment variable that holds the secret. */
    secretEnv: z.string().min(1).optional(),
  })
  .refine(({ secret, secretEnv }) => (secret === undefined) !== (secretEnv === undefined), {
    message: 'needs either secret or secretEnv',
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
  transcribe: TranscribeConfig.optional().describe('What turns recordings that people send into text.'),
  telegram: TelegramConfig.optional().describe('A bot at Telegram.'),
  whatsapp: WhatsAppConfig.optional().describe('A telephone number at WhatsApp (Cloud API of Meta).'),
});
