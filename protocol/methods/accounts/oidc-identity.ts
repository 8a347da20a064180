import { z } from 'zod';

const AtMs = z.int().min(0);

/** A person at an OpenID Connect provider who is a user here. */
export const OidcIdentity = z
  .strictObject({
    issuer: z.string(),
    subject: z.string(),
    userId: z.string(),
    createdAtMs: AtMs,
    lastLoginAtMs: AtMs.nullable(),
  })
  .meta({ id: 'OidcIdentity' });
export type OidcIdentity = z.infer<typeof OidcIdentity>;
