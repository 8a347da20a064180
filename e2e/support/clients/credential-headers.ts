export type CredentialHeaders = Record<string, string>;

/** The ways in which a request brings its credential. */
export const bearer = (secret: string): CredentialHeaders => ({ authorization: `Bearer ${secret}` });
export const cookie = (secret: string): CredentialHeaders => ({ cookie: `service_auth=${secret}` });
export const basic = (name: string, password: string): CredentialHeaders => ({
  authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`,
});
