// Search from disk: browsers start no worker for a page that was opened from a file, so a hidden
// frame does its work. Served pages have their worker and never come here.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super()
      this.waiting = []
      const frame = document.createElement("iframe")
      frame.hidden = true
      frame.srcdoc = "<!doctype html>"
      frame.addEventListener("load", () => {
        const inside = frame.contentWindow
        inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }))
        const script = inside.document.createElement("script")
        script.src = address
        script.addEventListener("load", () => {
          this.inside = inside
          this.waiting.splice(0).forEach((data) => this.postMessage(data))
        })
        inside.document.head.append(script)
      }, { once: true })
      const attach = () => document.body.append(frame)
      document.body ? attach() : addEventListener("DOMContentLoaded", attach)
    }

    postMessage(data) {
      if (this.inside) this.inside.dispatchEvent(new MessageEvent("message", { data }))
      else this.waiting.push(data)
    }

    terminate() {}
  }
}
