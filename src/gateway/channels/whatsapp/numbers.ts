import type { Clock } from '../../../clock.ts';
import type { GraphApi } from './graph-api.ts';
import { missingSecrets, type WhatsAppSettings } from './whatsapp-settings.ts';

/** The telephone number of the settings in force. */
export interface WhatsAppNumber {
  /** Loaded when it is first needed, because a start does not need it. */
  api(): Promise<GraphApi>;
  settings: WhatsAppSettings;
}

export interface WhatsAppDeps {
  /** Read at each use; undefined: there is no number. */
  settings(): WhatsAppSettings | undefined;
  fetch(url: string, init: RequestInit): Promise<Response>;
}

/** Returns the number in force; undefined if there is none, or a secret of it is missing. */
export function createNumbers(
  { settings, fetch }: WhatsAppDeps,
  clock: Pick<Clock, 'sleep'>,
): () => WhatsAppNumber | undefined {
  let made: { key: string; api: Promise<GraphApi> } | undefined;
  return () => {
    const current = settings();
    if (current === undefined || missingSecrets(current).length > 0) return undefined;
    const { phoneNumberId, accessToken, apiRoot } = current;
    const key = [phoneNumberId, accessToken, apiRoot].join(' ');
    const create = async () => {
      const { createGraphApi } = await import('./graph-api.ts');
      return createGraphApi({ phoneNumberId, accessToken, apiRoot, fetch, clock });
    };
    const api = () => {
      if (made?.key !== key) made = { key, api: create() };
      return made.api;
    };
    return { api, settings: current };
  };
}
