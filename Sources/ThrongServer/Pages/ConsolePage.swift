/// The administration page (contract section 8). It holds nothing: who opens it gives a credential, with which it calls
/// `POST /rpc`.
enum ConsolePage {
  /// The page of one load.
  static func load() -> Page { template.load() }

  private static let template = PageTemplate(
    PackageResources.console_html, styles: [PackageResources.base_css, PackageResources.console_css],
    scripts: [
      PackageResources.base_js, PackageResources.rpc_js, PackageResources.log_js, PackageResources.lists_js,
      PackageResources.directory_js, PackageResources.group_js, PackageResources.people_js, PackageResources.history_js,
      PackageResources.users_js, PackageResources.start_js,
    ])
}
