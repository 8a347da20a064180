import type { ChatSettings } from '../chats/chat-settings.ts';

/** Where the Cloud API is, with its version. */
export const WHATSAPP_API_ROOT = 'https://graph.facebook.com/v23.0';

/** The settings of a telephone number, read at each use. The secrets are empty where the environment lacks them. */
export interface WhatsAppSettings extends ChatSettings {
  phoneNumberId: string;
  accessToken: string;
  /** Signs what Meta sends. */
  appSecret: string;
  /** With which Meta verifies the web hook. */
  verifyToken: string;
  /** What is sent outside of the 24 hours after a message of the person; its body has one parameter. */
  template: { name: string; language: string } | undefined;
  apiRoot: string;
}

/** The settings whose variables the environment lacks, as people know them. */
export function missingSecrets({ accessToken, appSecret, verifyToken }: WhatsAppSettings): string[] {
  const secrets = { accessTokenEnv: accessToken, appSecretEnv: appSecret, verifyTokenEnv: verifyToken };
  return Object.entries(secrets).flatMap(([name, value]) => (value === '' ? name : []));
}
