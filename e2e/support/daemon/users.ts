export interface User {
  /** For titles of tests. */
  who: string;
  /** Undefined: the user who runs the tests. */
  uid: number | undefined;
}

/** A user id that is neither root nor a user of this machine. */
const STRANGER = 54_321;

/** The users whose daemon is tested: the user who runs the tests and, if that is root, another one. */
export const users: readonly User[] =
  process.getuid?.() === 0
    ? [
        { who: 'as root', uid: undefined },
        { who: 'as another user', uid: STRANGER },
      ]
    : [{ who: 'as this user', uid: undefined }];
