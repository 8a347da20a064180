import type { Clock } from '../../../clock.ts';
import { createGraphApi, type GraphApi } from './graph-api.ts';
import { missingSecrets, type WhatsAppSettings } from './whatsapp-settings.ts';

/** The telephone number of the settings in force. */
export interface WhatsAppNumber {
  api: GraphApi;
  settings: WhatsAppSettings;
}

export interface WhatsAppDeps {
  /** Read at each use; undefined: there is no number. */
  settings(): WhatsAppSettings | undefined;
  fetch(url: string, init: RequestInit): Promise<Response>;
  /** For files that are sent. Refuses private addresses. */
  fetchMedia(url: string, init: RequestInit): Promise<Response>;
}

/** Returns the number in force; undefined if there is none, or a secret of it is missing. */
export function createNumbers(
  { settings, fetch }: Pick<WhatsAppDeps, 'settings' | 'fetch'>,
  clock: Pick<Clock, 'sleep'>,
): () => WhatsAppNumber | undefined {
  let made: { key: string; api: GraphApi } | undefined;
  return () => {
    const current = settings();
    if (current === undefined || missingSecrets(current).length > 0) return undefined;
    const { phoneNumberId, accessToken, apiRoot } = current;
    const key = [phoneNumberId, accessToken, apiRoot].join(' ');
    if (made?.key !== key) made = { key, api: createGraphApi({ phoneNumberId, accessToken, apiRoot, fetch, clock }) };
    return { api: made.api, settings: current };
  };
}
