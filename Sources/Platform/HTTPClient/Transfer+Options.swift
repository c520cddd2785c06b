// Everything a transfer tells its libcurl handle, and the C functions it is called back by.

internal import CCurl

extension Transfer {
    /// Sets every option on a handle that was reset.
    func configure(_ handle: UnsafeMutableRawPointer, userAgent: String, authorityFile: String?) {
        let call = request.call
        func set(_ option: CURLoption, _ value: Int) {
            precondition(ccurl_set_long(handle, option, value) == CURLE_OK, "libcurl is too old")
        }
        func set(_ option: CURLoption, _ value: String) {
            precondition(ccurl_set_string(handle, option, value) == CURLE_OK, "libcurl is too old")
        }
        ccurl_set_pointer(handle, CURLOPT_CURLU, UnsafeRawPointer(request.url.handle))
        ccurl_set_pointer(handle, CURLOPT_ERRORBUFFER, message)
        set(CURLOPT_PROTOCOLS_STR, "http,https")
        set(CURLOPT_FOLLOWLOCATION, 0)
        set(CURLOPT_PROXY, "")  // not even one named in the environment
        set(CURLOPT_NETRC, 0)
        set(CURLOPT_NOSIGNAL, 1)
        // A timeout or cancellation would otherwise wait, on the loop, for the resolver's thread.
        set(CURLOPT_QUICK_EXIT, 1)
        set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1)
        set(CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2)
        set(CURLOPT_MAXAGE_CONN, 30)
        set(CURLOPT_MAXLIFETIME_CONN, 600)
        set(CURLOPT_TIMEOUT_MS, call.timeout.wholeMilliseconds)
        set(CURLOPT_CONNECTTIMEOUT_MS, call.connectTimeout.wholeMilliseconds)
        set(CURLOPT_USERAGENT, userAgent)
        if let authorityFile { set(CURLOPT_CAINFO, authorityFile) }
        setMethod(handle)
        setHeaders(handle)
        let status = ccurl_set_callbacks(
            handle, bodyArrived, headArrived, socketNeeded, requestDue,
            Unmanaged.passUnretained(self).toOpaque())
        precondition(status == CURLE_OK, "libcurl is too old")
    }

    private func setMethod(_ handle: UnsafeMutableRawPointer) {
        let method = request.call.method
        let sendsLength = ["POST", "PUT", "PATCH"].contains(method)
        if method == "HEAD" {
            ccurl_set_long(handle, CURLOPT_NOBODY, 1)
        } else if let body = request.call.body ?? (sendsLength ? [] : nil) {
            ccurl_set_long(handle, CURLOPT_POST, 1)
            ccurl_set_long(handle, CURLOPT_POSTFIELDSIZE_LARGE, body.count)
            // Copied: an empty array's null address would mean "ask a callback".
            (body.isEmpty ? [0] : body).withUnsafeBytes {
                _ = ccurl_set_pointer(handle, CURLOPT_COPYPOSTFIELDS, $0.baseAddress)
            }
            ccurl_set_string(handle, CURLOPT_CUSTOMREQUEST, method)
        } else {
            ccurl_set_long(handle, CURLOPT_HTTPGET, 1)
            ccurl_set_string(handle, CURLOPT_CUSTOMREQUEST, method)
        }
    }

    private func setHeaders(_ handle: UnsafeMutableRawPointer) {
        var lines = request.headerLines
        // No waiting for "100 Continue", and no content type the caller did not choose.
        lines.append("Expect:")
        if !request.call.headers.contains(where: { $0.name.lowercased() == "content-type" }) {
            lines.append("Content-Type:")
        }
        for line in lines {
            guard let list = curl_slist_append(headerList, line) else {
                preconditionFailure("no memory for header fields")
            }
            headerList = list
        }
        ccurl_set_pointer(handle, CURLOPT_HTTPHEADER, headerList)
    }
}

extension Duration {
    /// Rounded up, since libcurl takes zero for "no limit".
    fileprivate var wholeMilliseconds: Int {
        let (seconds, attoseconds) = components
        return Int(seconds * 1_000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}

// The callbacks as C functions; the context is the transfer, which outlives its handle's use.

private func transfer(_ context: UnsafeMutableRawPointer?) -> Transfer? {
    context.map { Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
}

private func bodyArrived(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
    _ context: UnsafeMutableRawPointer?
) -> Int {
    transfer(context)?.receiveBody(UnsafeRawBufferPointer(start: bytes, count: size * count)) ?? 0
}

private func headArrived(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
    _ context: UnsafeMutableRawPointer?
) -> Int {
    transfer(context)?.receiveHead(UnsafeRawBufferPointer(start: bytes, count: size * count)) ?? 0
}

private func socketNeeded(
    _ context: UnsafeMutableRawPointer?, _ purpose: curlsocktype,
    _ address: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
    guard let transfer = transfer(context), let address else { return -1 }
    return transfer.open(address)
}

private func requestDue(
    _ context: UnsafeMutableRawPointer?, _ peer: UnsafeMutablePointer<CChar>?,
    _ own: UnsafeMutablePointer<CChar>?, _ peerPort: Int32, _ ownPort: Int32
) -> Int32 {
    transfer(context)?.issue() == true ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
}
