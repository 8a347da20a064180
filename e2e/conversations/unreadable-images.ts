import { refusalWith } from './scripted-turns.ts';

/** An image of a conversation, as requests have it. */
export interface SimImage {
  name: string;
  data: string;
}

/** Images that the servers can no longer read. */
export function createUnreadableImages() {
  const unreadable: SimImage[] = [];
  const refusedFor = new Set<string>();
  return {
    /** All servers refuse every request with this image from now on. */
    add(image: SimImage): void {
      unreadable.push(image);
      refusedFor.clear();
    },
    /** The names of the images for which requests were refused since the latest `add`. */
    refusedFor: (): string[] => [...refusedFor],
    /** The refusal of a request with such an image. */
    refuse(messages: string) {
      const found = unreadable.find(({ data }) => messages.includes(`${data}"`));
      if (!found) return undefined;
      refusedFor.add(found.name);
      return refusalWith('Could not process image');
    },
  };
}
