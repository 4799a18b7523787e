// Pictures of the workspace itself. Those from elsewhere are described, not fetched.
import type { SharedFile, Text } from "../slack/model";

interface Pictured {
  alt_text?: string;
  image_url?: string;
  slack_file?: { id?: string };
}

export function Picture(props: { of: Pictured; title?: Text | string; isSmall?: boolean }) {
  const { alt_text = "", image_url = "", slack_file } = props.of;
  const title = typeof props.title === "string" ? props.title : props.title?.text;
  const source = sourceOf(slack_file?.id, image_url);
  return (
    <figure className={props.isSmall ? "kit-picture is-small" : "kit-picture"}>
      {title ? <figcaption>{title}</figcaption> : null}
      {source ? (
        <img src={source} alt={alt_text} loading="lazy" />
      ) : (
        <p className="kit-unknown">Picture from elsewhere, not fetched: {alt_text}</p>
      )}
    </figure>
  );
}

function sourceOf(file: string | undefined, url: string): string {
  if (file) return `/files/${file}/picture`;
  return url.startsWith("data:image/") || url.startsWith("/") ? url : "";
}

/** A file in a message: the picture with its place kept free, or its name and size. */
export function Shared({ file }: { file: SharedFile }) {
  if (!file.original_w || !file.original_h) {
    return (
      <div className="kit-file">
        <strong>{file.title}</strong>
        <span>
          {file.filetype.toUpperCase()} · {bytes(file.size)}
        </span>
      </div>
    );
  }
  return (
    <figure className="kit-picture">
      <figcaption>{file.title}</figcaption>
      <img
        src={`/files/${file.id}/${encodeURIComponent(file.name)}`}
        alt={file.alt_txt || file.title}
        width={file.original_w}
        height={file.original_h}
      />
    </figure>
  );
}

function bytes(size: number): string {
  return size < 1024 ? `${size} bytes` : `${Math.round(size / 1024)} KB`;
}
