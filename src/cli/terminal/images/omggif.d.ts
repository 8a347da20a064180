/** What the package does not declare itself. Its constructor throws for a file that is no GIF, or that ends early. */
declare module 'omggif' {
  export class GifReader {
    constructor(bytes: Uint8Array);
    readonly width: number;
    readonly height: number;
    numFrames(): number;
    frameInfo(frame: number): { x: number; y: number; width: number; height: number };
    /** Leaves out what is transparent. */
    decodeAndBlitFrameRGBA(frame: number, pixels: Uint8Array): void;
  }
}
