import { z } from 'zod';
import { contract } from '../contract.ts';
import { PresenceEntry } from './connect.ts';

export const systemContracts = {
  'system-presence': contract({
    summary: 'Who is connected, newest first: a bare array.',
    scope: 'read',
    params: z.unknown(),
    result: z.array(PresenceEntry).meta({ id: 'SystemPresenceResult' }),
  }),
};
