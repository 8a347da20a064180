/** The id of the user who acted, from a user id or from a principal such as `user:…`; undefined if no user did. */
export const userOfActor = (actor: string): string | undefined => /^(?:user:)?(user_[\w-]{1,59})$/.exec(actor)?.[1];
