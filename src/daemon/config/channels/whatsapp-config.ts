import { z } from 'zod';
import { trimEndOf } from '../../../../protocol/text/trimmed-text.ts';
import type { Environment } from '../../../environment.ts';
import { WHATSAPP_API_ROOT, type WhatsAppSettings } from '../../../gateway/channels/whatsapp/whatsapp-settings.ts';
import { CHAT_FIELDS, chatSettingsOf, problemOfPolicy } from './chat-config.ts';

const Variable = z.string().min(1).max(256);

const TemplateConfig = z.object({
  name: z
    .string()
    .regex(/^[a-z0-9_]{1,512}$/, 'must be the name of a template, such as answer_ready')
    .describe('The name of a template that Meta has approved. Its body has one parameter, which becomes the text.'),
  language: z
    .string()
    .regex(/^[a-z]{2,3}(?:_[A-Z]{2})?$/, 'must be the language of the template, such as en or en_US')
    .default('en')
    .describe('The language of the template, as Meta lists it.'),
});

/** A telephone number at WhatsApp (Cloud API of Meta). */
export const WhatsAppConfig = z
  .object({
    phoneNumberId: z
      .union([z.int(), z.string()])
      .transform(String)
      .refine((id) => /^[1-9]\d{0,24}$/.test(id), 'must be the id of the telephone number, as Meta lists it')
      .describe('The id of the telephone number; this is not the number itself.'),
    accessTokenEnv: Variable.describe('The environment variable that holds the access token.'),
    appSecretEnv: Variable.describe('The environment variable that holds the secret of the app, which signs messages.'),
    verifyTokenEnv: Variable.describe(
      'The environment variable that holds the token with which Meta verifies the web hook. You choose it.',
    ),
    ...CHAT_FIELDS,
    template: TemplateConfig.optional().describe(
      'What is sent when the last message of the person is more than 24 hours old. Without it, such messages fail.',
    ),
    apiRoot: z
      .url({ protocol: /^https?$/ })
      .default(WHATSAPP_API_ROOT)
      .describe('The address of the Graph API, with its version.'),
  })
  .superRefine(({ dmPolicy, allowFrom }, { addIssue }) => {
    const message = problemOfPolicy({ dmPolicy, allowFrom });
    if (message !== undefined) addIssue({ code: 'custom', path: ['allowFrom'], message });
  });
export type WhatsAppConfig = z.infer<typeof WhatsAppConfig>;

/** The settings as they are used. */
export const whatsAppSettingsOf = (config: WhatsAppConfig, environment: Environment): WhatsAppSettings => ({
  ...chatSettingsOf(config),
  groups: new Map(),
  phoneNumberId: config.phoneNumberId,
  accessToken: environment[config.accessTokenEnv] ?? '',
  appSecret: environment[config.appSecretEnv] ?? '',
  verifyToken: environment[config.verifyTokenEnv] ?? '',
  template: config.template,
  apiRoot: trimEndOf(config.apiRoot, '/'),
});
