export interface User {
  /** For titles of tests. */
  who: string;
  /** Undefined: whoever runs the tests. */
  uid: number | undefined;
}

/** Anybody who is neither root nor a user of this machine. */
const STRANGER = 54_321;

/** Whose daemon is tested: the user's who runs the tests, and if that is root, another one's too. */
export const users: readonly User[] =
  process.getuid?.() === 0
    ? [
        { who: 'as root', uid: undefined },
        { who: 'as another user', uid: STRANGER },
      ]
    : [{ who: 'as this user', uid: undefined }];
